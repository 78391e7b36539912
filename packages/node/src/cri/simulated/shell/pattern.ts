/** Shell patterns: `*`, `?`, `[a-z]`. */
import type { FileTree } from '../file-tree.ts';

/** Characters of a pattern; literal ones have no special meaning. */
export type Pattern = readonly { readonly character: string; readonly isLiteral: boolean }[];

export function isPattern(pattern: Pattern): boolean {
  return pattern.some(({ character, isLiteral }) => !isLiteral && /[*?[]/.test(character));
}

export function textOf(pattern: Pattern): string {
  return pattern.map(({ character }) => character).join('');
}

/** Reports whether a pattern matches the whole text. Takes time in proportion to both lengths. */
export function matches(pattern: Pattern, text: string): boolean {
  let [at, textAt] = [0, 0];
  /** Backtracking position after the last star: on a mismatch the star matches one more character. */
  let retry: { readonly pattern: number; text: number } | undefined;
  while (textAt < text.length) {
    const piece = pattern[at];
    if (piece && !piece.isLiteral && piece.character === '*') {
      retry = { pattern: at + 1, text: textAt };
      at++;
      continue;
    }
    const length = piece ? matchOne(pattern, at, text[textAt] as string) : 0;
    if (length > 0) {
      at += length;
      textAt++;
    } else if (retry) {
      at = retry.pattern;
      textAt = ++retry.text;
    } else {
      return false;
    }
  }
  while (pattern[at] && !pattern[at]?.isLiteral && pattern[at]?.character === '*') at++;
  return at === pattern.length;
}

/** Returns the length of the pattern element that matches a character; 0 if it does not match. */
function matchOne(pattern: Pattern, at: number, character: string): number {
  const piece = pattern[at] as Pattern[number];
  if (piece.isLiteral) return piece.character === character ? 1 : 0;
  if (piece.character === '?') return 1;
  if (piece.character !== '[') return piece.character === character ? 1 : 0;
  const isNegated = /[!^]/.test(pattern[at + 1]?.character ?? '');
  const start = at + (isNegated ? 2 : 1);
  let end = start + 1;
  while (end < pattern.length && (pattern[end]?.isLiteral || pattern[end]?.character !== ']')) end++;
  if (end >= pattern.length) return character === '[' ? 1 : 0;
  let isIn = false;
  for (let index = start; index < end; index++) {
    const from = pattern[index]?.character ?? '';
    const isRange = pattern[index + 1]?.character === '-' && index + 2 < end;
    const to = isRange ? (pattern[index + 2]?.character ?? '') : from;
    if (character >= from && character <= to) isIn = true;
    if (isRange) index += 2;
  }
  return isIn !== isNegated ? end - at + 1 : 0;
}

/** Returns the paths that match a pattern, sorted. */
export function globPaths(pattern: Pattern, files: FileTree, directory: string): readonly string[] {
  const segments: Pattern[number][][] = [[]];
  for (const piece of pattern) {
    if (piece.character === '/') segments.push([]);
    else segments.at(-1)?.push(piece);
  }
  const isAbsolute = segments[0]?.length === 0 && segments.length > 1;
  let found = [isAbsolute ? '/' : ''];
  for (const segment of segments) {
    if (segment.length === 0) continue;
    found = found.flatMap((base) => expandSegment(segment, base, files, directory));
  }
  return found.sort();
}

function expandSegment(segment: Pattern, base: string, files: FileTree, directory: string): string[] {
  const join = (name: string) => (base === '' ? name : base.endsWith('/') ? `${base}${name}` : `${base}/${name}`);
  const absolute = (path: string) => (path.startsWith('/') ? path : `${directory}/${path}`);
  if (!isPattern(segment)) return files.exists(absolute(join(textOf(segment)))) ? [join(textOf(segment))] : [];
  const folder = absolute(base);
  if (!files.exists(folder) || files.stat(folder).type !== 'directory') return [];
  const showsHidden = segment[0]?.character === '.';
  return files
    .list(folder)
    .filter((name) => (showsHidden || !name.startsWith('.')) && matches(segment, name))
    .map(join);
}
