/**
 * Field selectors: `status.phase=Running,spec.nodeName!=a`. Which fields there are, and what an object has for them,
 * is the kind's to say; this is the grammar and the comparison.
 */
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';

/** One comparison. */
export type FieldTerm = { readonly field: string; readonly operator: '=' | '!='; readonly value: string };

/** A parsed selector. All of its terms have to hold. */
export type FieldSelector = { readonly terms: readonly FieldTerm[] };

/** Selects every object. */
export const everyField: FieldSelector = { terms: [] };

/** Reads a selector. Throws `ParseError` with Kubernetes' text. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField;
  const terms = splitTerms(text)
    .sort(compareStrings)
    .map((term) => parseTerm(term, text))
    // A lone operator says nothing, and Kubernetes lets it pass.
    .filter(({ field, value }) => field !== '' || value !== '');
  return { terms };
}

function parseTerm(term: string, text: string): FieldTerm {
  const match = /!=|==?/.exec(term);
  if (!match) throw new ParseError(`invalid selector: '${text}'; can't understand '${term}'`);
  const value = unescapeValue(term.slice(match.index + match[0].length));
  return { field: term.slice(0, match.index), operator: match[0] === '!=' ? '!=' : '=', value };
}

/** Whether an object is selected, given what it has for each field. A field it does not have is empty. */
export function matchesFields({ terms }: FieldSelector, fieldOf: (field: string) => string | undefined): boolean {
  return terms.every(({ field, operator, value }) => ((fieldOf(field) ?? '') === value) === (operator === '='));
}

/** The selector as a query string. */
export function formatFieldSelector({ terms }: FieldSelector): string {
  return terms.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
}

/** The only value the selector allows a field, if there is just one. */
export function requiredField({ terms }: FieldSelector, field: string): string | undefined {
  return terms.find((term) => term.field === field && term.operator === '=')?.value;
}

/** The selector with each field renamed and checked; a term that is given nothing for is dropped. */
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

/** A value as it may stand in a selector. */
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
