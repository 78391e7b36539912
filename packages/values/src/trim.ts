/**
 * Removes every trailing character that is in the set, in linear time. A pattern such as `/0+$/` does not: it scans each
 * run of zeros once for every zero it begins with, so a long text of them takes quadratic time.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
