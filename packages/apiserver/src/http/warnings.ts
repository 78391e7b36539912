import type { RequestContext } from '../context.ts';
import type { Headers } from './http-request.ts';

/**
 * Maximum length of all warnings together, in characters. Beyond it each warning is truncated, and further warnings are
 * dropped.
 */
const maxTotal = 4096;
const maxEach = 256;

/** Returns the Warning headers, one per warning, as kubectl prints them, with Kubernetes' limits. */
export function warningHeaders({ warnings }: RequestContext): Headers {
  if (warnings.size === 0) return {};
  const shown = fittingTexts(warnings);
  // Node.js writes headers as Latin-1; Kubernetes writes UTF-8.
  return {
    warning: shown.map((text) => Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1')),
  };
}

function fittingTexts(warnings: Iterable<string>): readonly string[] {
  let shown: string[] = [];
  let total = 0;
  let isTruncating = false;
  for (const warning of warnings) {
    if (isTruncating && total >= maxTotal) break;
    const text = warning.replace(/[\x00-\x1f\x7f]/g, ' ');
    shown.push(isTruncating ? truncate(text) : text);
    total += lengthOf(shown.at(-1)!);
    if (isTruncating || total <= maxTotal) continue;
    // Warnings that fitted so far are truncated as well.
    isTruncating = true;
    shown = shown.map(truncate);
    total = shown.reduce((sum, each) => sum + lengthOf(each), 0);
  }
  return shown;
}

/** Returns the length in characters, not in UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function truncate(text: string): string {
  // N code units contain at least N / 2 characters.
  return [...text.slice(0, 2 * maxEach)].slice(0, maxEach).join('');
}
