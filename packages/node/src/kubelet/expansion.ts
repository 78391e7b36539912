/**
 * Replaces `$(NAME)` in environment values, commands and arguments. `$$` stands for a dollar sign; a name that does not
 * resolve is kept as it is written. Takes linear time: the next closing parenthesis is looked up once for all the opening
 * ones before it.
 */
export function expand(text: string, resolve: (name: string) => string | undefined): string {
  let expanded = '';
  let copied = 0;
  let closing = -1;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', copied)) {
    expanded += text.slice(copied, at);
    const next = text[at + 1];
    if (next === '(' && closing < at) closing = indexOrEnd(text, ')', at);
    if (next === '(' && closing < text.length) {
      const whole = text.slice(at, closing + 1);
      expanded += resolve(whole.slice(2, -1)) ?? whole;
      copied = closing + 1;
    } else {
      expanded += '$';
      copied = at + (next === '$' ? 2 : 1);
    }
  }
  return copied === 0 ? text : expanded + text.slice(copied);
}

function indexOrEnd(text: string, searched: string, from: number): number {
  const found = text.indexOf(searched, from);
  return found < 0 ? text.length : found;
}
