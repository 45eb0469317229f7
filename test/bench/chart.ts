import type { Build } from './contenders.ts';
import type { Count } from './measure.ts';
import { buildLabels, labels } from './report.ts';

const barHeight = 22;
const gap = 8;
const left = 200;
const width = 760;
const groupHeader = 30;

/**
 * A bar for the instructions of each program's cold getPet, in a group for each of two builds, as SVG that is
 * legible on dark and light pages.
 */
export const chart = (coldStarts: readonly Count[]): string => {
  const rows = coldStarts.filter(({ request }) => request === 'getPet');
  const most = Math.max(...rows.map(({ millions }) => millions));
  const lines: string[] = [];
  let top = 40;
  const draw = (build: Build) => {
    lines.push(
      `  <text x="${left}" y="${top + 14}" font-weight="bold">${buildLabels[build]}</text>`,
    );
    top += groupHeader;
    for (const { program, millions } of rows.filter((row) => row.build === build)) {
      const length = (millions / most) * (width - left - 60);
      const colour = program === 'service' ? '#0b7' : '#89a';
      lines.push(
        `  <text x="${left - 10}" y="${top + 16}" text-anchor="end">${labels[program]}</text>`,
        `  <rect x="${left}" y="${top}" width="${length.toFixed(1)}" height="${barHeight}" fill="${colour}"/>`,
        `  <text x="${(left + length + 8).toFixed(1)}" y="${top + 16}">${millions.toFixed(0)} M</text>`,
      );
      top += barHeight + gap;
    }
    top += gap;
  };
  draw('defaults');
  draw('hit');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" font-family="system-ui, sans-serif" font-size="14" fill="#789">
  <title>Instructions of a cold getPet, for programs that are built in the same way</title>
  <text x="${left}" y="22">Millions of instructions of a cold getPet, less an empty handler</text>
${lines.join('\n')}
</svg>
`;
};
