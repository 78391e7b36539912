/**
 * Removes all trailing characters that are in the set, in linear time. A regular expression such as `/0+$/` takes
 * quadratic time, because it scans each run of zeros once for every zero in it.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
