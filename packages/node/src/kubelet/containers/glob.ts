/**
 * Glob matching of registry host names in pull Secrets, with the syntax of Go's `filepath.Match`: `*`, `?`, `[a-z]`,
 * `[^a-z]` and backslash escapes. The pattern is tenant input, so no regular expression is built from it: matching
 * takes time in proportion to the pattern plus at most the square of the text, and a host name is short.
 */

/** Reports whether the whole text matches the pattern. A malformed pattern matches nothing. */
export function globMatches(pattern: string, text: string): boolean {
  const terms = parseTerms(pattern, text.length);
  if (!terms) return false;
  let [termAt, textAt] = [0, 0];
  // The last star, and how much of the text it matches. Earlier stars never need to match more.
  let star: { readonly term: number; text: number } | undefined;
  while (textAt < text.length) {
    const term = terms[termAt];
    if (term === any) {
      star = { term: termAt++, text: textAt };
    } else if (term?.(text[textAt]!)) {
      termAt++;
      textAt++;
    } else if (star) {
      termAt = star.term + 1;
      textAt = ++star.text;
    } else {
      return false;
    }
  }
  while (terms[termAt] === any) termAt++;
  return termAt === terms.length;
}

type Term = (character: string) => boolean;
const any: Term = () => true;

/** Returns the terms of a pattern; undefined if the pattern is malformed or needs more characters than the text has. */
function parseTerms(pattern: string, maxCharacters: number): readonly Term[] | undefined {
  const terms: Term[] = [];
  let characters = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === '*') {
      if (terms.at(-1) !== any) terms.push(any);
      continue;
    }
    if (++characters > maxCharacters) return undefined;
    if (character === '?') {
      terms.push(() => true);
    } else if (character === '[') {
      const parsed = parseClass(pattern, at + 1);
      if (!parsed) return undefined;
      terms.push(parsed.term);
      at = parsed.end;
    } else {
      const literal = character === '\\' ? pattern[++at] : character;
      if (literal === undefined) return undefined;
      terms.push((found) => found === literal);
    }
  }
  return terms;
}

/** Parses the rest of a character class; returns the position of its closing bracket. */
function parseClass(pattern: string, start: number): { readonly term: Term; readonly end: number } | undefined {
  const isNegated = pattern[start] === '^';
  const ranges: { readonly from: string; readonly to: string }[] = [];
  let at = isNegated ? start + 1 : start;
  const next = () => {
    const isEscape = pattern[at] === '\\';
    const character = pattern[isEscape ? at + 1 : at];
    at += isEscape ? 2 : 1;
    return character === undefined || (!isEscape && (character === '-' || character === ']')) ? undefined : character;
  };
  while (ranges.length === 0 || pattern[at] !== ']') {
    const from = next();
    if (from === undefined) return undefined;
    let to: string | undefined = from;
    if (pattern[at] === '-') {
      at++;
      to = next();
      if (to === undefined) return undefined;
    }
    ranges.push({ from, to });
  }
  return { term: (found) => ranges.some(({ from, to }) => found >= from && found <= to) !== isNegated, end: at };
}
