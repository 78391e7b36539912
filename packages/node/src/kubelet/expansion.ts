/** `$(NAME)` in environment values, commands and arguments. `$$` stands for a dollar sign, what is unknown for itself. */
export function expand(text: string, resolve: (name: string) => string | undefined): string {
  if (!text.includes('$')) return text;
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, escaped: string, name: string | undefined) =>
    escaped === '$' ? '$' : (resolve(name ?? '') ?? whole),
  );
}
