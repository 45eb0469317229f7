import { labels } from './report.ts';
import type { Results } from './results.ts';

const barHeight = 22;
const gap = 8;
const left = 230;
const width = 760;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A bar for each contender's cold getPet, INIT and first invocation apart, as SVG that is legible on dark and on light. */
export const chart = ({ cold }: Results): string => {
  const { starts = [] } =
    cold.find(({ start, request }) => start === 'lambda' && request === 'getPet') ?? {};
  const longest = Math.max(...starts.map(({ untilFirstAnswer }) => untilFirstAnswer.median));
  const scale = (ms: number) => (ms / longest) * (width - left - 60);
  const bars = starts.map(({ name, untilFirstAnswer, firstInvocation }, index) => {
    const top = 40 + index * (barHeight + gap);
    const total = scale(untilFirstAnswer.median);
    const first = Math.min(total, scale(firstInvocation.median));
    const colour = name === 'service' ? '#0b7' : '#89a';
    return `  <text x="${left - 10}" y="${top + 16}" text-anchor="end">${escaped(labels[name])}</text>
  <rect x="${left}" y="${top}" width="${(total - first).toFixed(1)}" height="${barHeight}" fill="${colour}"/>
  <rect x="${(left + total - first).toFixed(1)}" y="${top}" width="${first.toFixed(1)}" height="${barHeight}" fill="${colour}" opacity="0.5"/>
  <text x="${(left + total + 8).toFixed(1)}" y="${top + 16}">${untilFirstAnswer.median.toFixed(0)} ms</text>`;
  });
  const height = 40 + starts.length * (barHeight + gap) + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14" fill="#789">
  <title>CPU time of a cold getPet</title>
  <text x="${left}" y="22">CPU time of a cold getPet: INIT, and the first invocation (pale)</text>
${bars.join('\n')}
</svg>
`;
};
