import type { NameRule } from '@kruise/api/meta/name-rules';

const characters = String.raw`^[a-zA-Z0-9\-]+$`;
const pattern = new RegExp(characters);
const maxLength = 63;

/** Returns the rule for names of a kind of job, which must be valid as label values of Pods. */
export function jobName(kind: string): NameRule {
  const faultsOf = (name: string) => [
    ...(pattern.test(name)
      ? []
      : [
          `${kind} name must consist of alphanumeric characters or '-' (e.g. 'example-com', regex used for validation is '${characters}')`,
        ]),
    ...(Buffer.byteLength(name) > maxLength ? [`must be no more than ${maxLength} characters`] : []),
  ];
  return { whole: faultsOf, prefix: faultsOf };
}
