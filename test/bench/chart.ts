import { labels } from './report.ts';
import type { Results } from './results.ts';

const barHeight = 22;
const gap = 8;
const left = 230;
const width = 760;

/**
 * A bar for the instructions of each contender's cold getPet, as SVG that is legible on dark and light
 * pages.
 */
export const chart = ({ coldInstructions }: Results): string => {
  const rows = coldInstructions.filter(({ request }) => request === 'getPet');
  const most = Math.max(...rows.map(({ millions }) => millions));
  const bars = rows.map(({ name, millions }, index) => {
    const top = 40 + index * (barHeight + gap);
    const length = (millions / most) * (width - left - 60);
    const colour = ['hit', 'absent', 'rejected'].includes(name) ? '#0b7' : '#89a';
    return `  <text x="${left - 10}" y="${top + 16}" text-anchor="end">${labels[name]}</text>
  <rect x="${left}" y="${top}" width="${length.toFixed(1)}" height="${barHeight}" fill="${colour}"/>
  <text x="${(left + length + 8).toFixed(1)}" y="${top + 16}">${millions.toFixed(0)} M</text>`;
  });
  const height = 40 + rows.length * (barHeight + gap) + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14" fill="#789">
  <title>Instructions of a cold getPet, with and without V8’s code cache</title>
  <text x="${left}" y="22">Millions of instructions of a cold getPet, less an empty handler</text>
${bars.join('\n')}
</svg>
`;
};
