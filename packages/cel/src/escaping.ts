/**
 * Escapes property names as CEL identifiers. JSON properties may have any name: `.` becomes `__dot__`, `-` becomes
 * `__dash__`, `/` becomes `__slash__`, `__` becomes `__underscores__`, and a reserved word `x` becomes `__x__`.
 */

const reservedWords: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const unescapes = new Map(Object.entries(escapes).map(([plain, escaped]) => [escaped, plain]));

/** Returns whether a word is reserved in CEL. */
export const isReservedWord = (word: string): boolean => reservedWords.has(word);

/** Returns the CEL identifier of a property, or undefined if it has none. */
export function escapeIdentifier(property: string): string | undefined {
  if (reservedWords.has(property)) return `__${property}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(property)) return undefined;
  return property.replace(/__|[-./]/g, (found) => escapes[found]!);
}

/** Returns the property of a CEL identifier, or undefined if the identifier has unknown escapes. */
export function unescapeIdentifier(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier;
  let isValid = true;
  const property = identifier.replace(/__[^_]+__/g, (escaped) => {
    const plain = unescapes.get(escaped);
    if (plain !== undefined) return plain;
    const word = escaped.slice(2, -2);
    if (!reservedWords.has(word) || escaped.length !== identifier.length) isValid = false;
    return word;
  });
  return isValid ? property : undefined;
}
