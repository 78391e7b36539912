import { dump } from 'js-yaml';

/** The YAML text of a JSON value, as Kubernetes writes it: keys by name, lists no deeper than their key. */
export function formatYaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, seqNoIndent: true });
}
