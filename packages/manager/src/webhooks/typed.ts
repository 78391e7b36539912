/** Objects as Go's types decode them: unknown fields are dropped, and the others are written as Go writes them. */
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { podTemplateSpec } from '@kruise/api/core/pod-template';
import { isSame } from '@kruise/machinery/json-value';
import type { Field, Fields, Node } from '@kruise/schema/';
import { type Codec, codecOf } from '@kruise/schema/codec';
import type { Kind, KubernetesObject, ObjectOf } from '@kruise/schema/kind';

const templates = codecOf(podTemplateSpec);
const claims = codecOf(persistentVolumeClaim.root);

type Templated = KubernetesObject & {
  readonly spec?: { readonly template?: unknown; readonly volumeClaimTemplates?: unknown };
};

/** Decodes an object of the kind, including its Pod and PVC templates. */
export function typed<K extends Kind>(kind: K, object: unknown): ObjectOf<K> {
  // The schema of a kind is that of its objects.
  const read = (codecOf(kind.root) as Codec<ObjectOf<K>>).fromJson(object);
  // The kind's schema keeps templates opaque.
  const given: Templated = read;
  if (!given.spec) return read;
  const { template, volumeClaimTemplates, ...spec } = given.spec;
  const whole: Templated = {
    ...given,
    spec: {
      ...nullsOf(kind),
      ...spec,
      ...(template == null ? {} : { template: isKeptWhole(kind) ? templates.fromJson(template) : template }),
      ...(Array.isArray(volumeClaimTemplates)
        ? { volumeClaimTemplates: volumeClaimTemplates.map((claim) => claims.fromJson(claim)) }
        : {}),
    },
  };
  // The result differs from the decoded object only in how its templates are written.
  return whole as ObjectOf<K>;
}

/**
 * Returns the object with the defaults that `fill` adds. If it adds none, the object is returned unchanged, with its
 * unknown fields.
 */
export function withDefaults<T extends KubernetesObject>(kind: Kind, object: T, fill: (given: T) => T): T {
  // Decoded objects have the type of their kind.
  const given = typed(kind, object) as T;
  const filled = fill(given);
  return isSame(given, filled) ? object : filled;
}

/** Reports whether the kind has an opaque Pod template rather than a template of its own. */
function isKeptWhole(kind: Kind): boolean {
  const template = specFieldsOf(kind)['template'];
  return template !== undefined && nodeOf(template).type === 'any';
}

/** Returns the fields that Go writes as null where they are missing, so that the server's validation reports them. */
function nullsOf(kind: Kind): { readonly [field: string]: null } {
  const isNull = (field: Field | Node) => 'node' in field && field.pointer && !field.omitEmpty;
  const missing = Object.entries(specFieldsOf(kind)).filter(([, field]) => isNull(field));
  return Object.fromEntries(missing.map(([name]) => [name, null]));
}

function specFieldsOf({ root }: Kind): Fields {
  const spec = root.fields['spec'];
  const node = spec && nodeOf(spec);
  return node?.type === 'object' ? node.fields : {};
}

function nodeOf(field: Field | Node): Node {
  return 'node' in field ? field.node : field;
}
