/**
 * Expansion of `$(NAME)` references in environment values, commands and arguments. The text is tenant input: each text
 * is scanned once, and its expansion is bounded by the kernel's limit, because a process could not start with longer
 * values.
 */
const maxStringLength = 128 * 1024;
const maxTotalLength = 6 * 2 ** 20;

/** Expands references. `$$` is an escaped dollar sign; an unknown reference is left unchanged. */
export function expand(text: string, resolve: (name: string) => string | undefined): string {
  let expanded = '';
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    const next = text[at + 1];
    const end = next === '(' ? text.indexOf(')', at + 2) : -1;
    // No reference is closed after this position, so only escaped dollar signs remain.
    if (next === '(' && end < 0) return expanded + text.slice(from).replaceAll('$$', '$');
    if (next === '$') expanded += `${text.slice(from, at)}$`;
    else if (end < 0) expanded += text.slice(from, at + 2);
    else expanded += text.slice(from, at) + (resolve(text.slice(at + 2, end)) ?? text.slice(at, end + 1));
    from = end < 0 ? at + 2 : end + 1;
    if (expanded.length > maxStringLength && expanded.length > text.length) {
      throw new Error(`expanded value is longer than ${maxStringLength} characters`);
    }
  }
  return from === 0 ? text : expanded + text.slice(from);
}

/** Counts the characters of a container's arguments and environment; throws if the kernel would reject them. */
export function countCharacters(): (text: string) => void {
  let total = 0;
  return (text) => {
    total += text.length;
    if (total > maxTotalLength) throw new Error(`argument list too long: more than ${maxTotalLength} characters`);
  };
}
