/** URLs of Kubernetes: `url('https://example.com').getHost()`. */

import { attempt } from '../attempt.ts';
import { ArrayList, EntryMap } from '../collections.ts';
import { constantCost, scale, stringFactor, traversal } from '../costs.ts';
import { type FunctionDeclaration, method, overload } from '../functions.ts';
import { formatUrl, type GoUrl, parseRequestUrl, parseUrl, queryParameters, splitHost } from '../go-url.ts';
import type { Library } from '../library.ts';
import { boolType, listType, mapType, objectType, stringType } from '../types.ts';
import { EvaluationError, ObjectValue, orNoSuchOverload, type Value } from '../values.ts';

/** `kubernetes.URL`. */
export const urlType = objectType('kubernetes.URL');

/** A URL as a CEL value. */
export class UrlValue extends ObjectValue {
  readonly typeName = urlType.name;
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    super();
    this.url = url;
  }

  equals(other: Value): boolean | EvaluationError {
    return other instanceof UrlValue ? formatUrl(this.url) === formatUrl(other.url) : orNoSuchOverload(other);
  }

  override toJson(): string {
    return formatUrl(this.url);
  }
}

const getter = (name: string, id: string, part: (url: GoUrl) => string): FunctionDeclaration => ({
  name,
  overloads: [method(id, [urlType], stringType, (value) => part((value as UrlValue).url))],
  cost: constantCost(1),
});

function query({ query }: GoUrl): Value {
  const parameters = new EntryMap();
  for (const [key, values] of queryParameters(query)) parameters.set(key, new ArrayList([...values]));
  return parameters;
}

/** The URL library. */
export const urlLibrary: Library = {
  functions: [
    {
      name: 'url',
      overloads: [
        overload('string_to_url', [stringType], urlType, (text) => {
          // The first parser requires an absolute URL or path, the second supports fragments.
          const url = attempt(() => parseRequestUrl(text as string) && parseUrl(text as string));
          return url instanceof EvaluationError
            ? new EvaluationError(`URL parse error during conversion from string: ${url.message}`)
            : new UrlValue(url);
        }),
      ],
      cost: {
        actual: traversal(0),
        estimate: ({ args }) => ({ cost: scale(args[0]!.size, stringFactor), resultSize: args[0]!.size }),
      },
    },
    {
      name: 'isURL',
      overloads: [
        overload(
          'is_url_string',
          [stringType],
          boolType,
          (text) => !(attempt(() => parseRequestUrl(text as string)) instanceof EvaluationError),
        ),
      ],
    },
    getter('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    getter('getHost', 'url_get_host', ({ host }) => host),
    getter('getHostname', 'url_get_hostname', ({ host }) => splitHost(host).hostname),
    getter('getPort', 'url_get_port', ({ host }) => splitHost(host).port),
    getter('getEscapedPath', 'url_get_escaped_path', ({ path }) => path),
    {
      name: 'getQuery',
      overloads: [
        method('url_get_query', [urlType], mapType(stringType, listType(stringType)), (value) =>
          query((value as UrlValue).url),
        ),
      ],
      cost: constantCost(1),
    },
  ],
};
