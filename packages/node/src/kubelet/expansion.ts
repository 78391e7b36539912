/**
 * References of the form `$(NAME)` in environment values, commands and arguments. A tenant writes them, so a text is
 * scanned once, and its expansion is bounded by the limit of the kernel: longer values could start no process.
 */
const maxStringLength = 128 * 1024;
const maxTotalLength = 6 * 2 ** 20;

/** Replaces references. `$$` is an escaped dollar sign; an unknown reference stays as it is. */
export function expand(text: string, resolve: (name: string) => string | undefined): string {
  let expanded = '';
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    const next = text[at + 1];
    const end = next === '(' ? text.indexOf(')', at + 2) : -1;
    // No reference is closed from here on, so only dollar signs remain to be found.
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

/** Counts the bytes of a container's arguments and environment; throws where the kernel would refuse them. */
export function countCharacters(): (text: string) => void {
  let total = 0;
  return (text) => {
    total += text.length;
    if (total > maxTotalLength) throw new Error(`argument list too long: more than ${maxTotalLength} characters`);
  };
}
