/**
 * Field selectors: `status.phase=Running,spec.nodeName!=a`. Each kind defines its fields; this module has the grammar
 * and the matching.
 */
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';

/** One comparison of a selector. */
export type FieldTerm = { readonly field: string; readonly operator: '=' | '!='; readonly value: string };

/** A parsed selector; all terms must match. */
export type FieldSelector = { readonly terms: readonly FieldTerm[] };

/** Selects every object. */
export const everyField: FieldSelector = { terms: [] };

/**
 * Parses a selector. Throws `ParseError` with the message of Kubernetes.
 *
 * ```ts
 * const selector = parseFieldSelector('spec.nodeName=node-1');
 * matchesFields(selector, () => 'node-1'); // true
 * ```
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField;
  const terms = splitTerms(text)
    .sort(compareStrings)
    .map((term) => parseTerm(term, text))
    // Kubernetes ignores a lone operator.
    .filter(({ field, value }) => field !== '' || value !== '');
  return { terms };
}

function parseTerm(term: string, text: string): FieldTerm {
  const match = /!=|==?/.exec(term);
  if (!match) throw new ParseError(`invalid selector: '${text}'; can't understand '${term}'`);
  const value = unescapeValue(term.slice(match.index + match[0].length));
  return { field: term.slice(0, match.index), operator: match[0] === '!=' ? '!=' : '=', value };
}

/** Reports whether an object with these field values is selected. A missing field is empty. */
export function matchesFields({ terms }: FieldSelector, fieldOf: (field: string) => string | undefined): boolean {
  return terms.every(({ field, operator, value }) => ((fieldOf(field) ?? '') === value) === (operator === '='));
}

/** Formats a selector as a query string. */
export function formatFieldSelector({ terms }: FieldSelector): string {
  return terms.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
}

/** Returns the value that the selector requires for a field, if it allows only one. */
export function requiredField({ terms }: FieldSelector, field: string): string | undefined {
  return terms.find((term) => term.field === field && term.operator === '=')?.value;
}

/** Renames and validates the fields of a selector; terms for which the function returns nothing are dropped. */
export function transformFields(
  { terms }: FieldSelector,
  transform: (field: string, value: string) => { readonly field: string; readonly value: string } | undefined,
): FieldSelector {
  return {
    terms: terms.flatMap((term) => {
      const transformed = transform(term.field, term.value);
      return transformed === undefined ? [] : [{ ...term, ...transformed }];
    }),
  };
}

/** Escapes a value for a selector. */
export function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function splitTerms(text: string): string[] {
  return text.match(/(?:\\.?|[^\\,])+/gsu) ?? [];
}

function unescapeValue(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (match, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw new ParseError(`invalid field selector: unescaped character in value: ${match.charCodeAt(0)}`);
    }
    if (!/[\\,=]/.test(escaped)) throw new ParseError(`invalid field selector: invalid escape sequence: ${match}`);
    return escaped;
  });
}
