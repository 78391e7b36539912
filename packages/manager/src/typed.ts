/** Objects as Go's types have them: fields that nobody knows are gone, and the others are written as Go writes them. */
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { podTemplateSpec } from '@kruise/api/core/pod-template';
import { isSame } from '@kruise/machinery/json-value';
import { type Codec, codecOf } from '@kruise/schema/codec';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Field, Fields, Node } from '@kruise/schema/language';

const templates = codecOf(podTemplateSpec);
const claims = codecOf(persistentVolumeClaim.root);

type Templated = { readonly spec?: { readonly template?: unknown; readonly volumeClaimTemplates?: unknown } };

/** The object as the kind has it, templates of Pods and volume claims included. */
export function typed<K extends Kind>(kind: K, object: unknown): ObjectOf<K> {
  // The schema of a kind is that of its objects.
  const read = (codecOf(kind.root) as Codec<ObjectOf<K>>).fromJson(object);
  if (!(read as Templated).spec) return read;
  // A kind keeps templates without looking into them.
  const { template, volumeClaimTemplates, ...spec } = (read as Required<Templated>).spec;
  const whole = {
    ...(read as object),
    spec: {
      ...nullsOf(kind),
      ...spec,
      ...(template == null ? {} : { template: isKeptWhole(kind) ? templates.fromJson(template) : template }),
      ...(Array.isArray(volumeClaimTemplates)
        ? { volumeClaimTemplates: volumeClaimTemplates.map((claim) => claims.fromJson(claim)) }
        : {}),
    },
  };
  // It differs from what was read in how the templates are written.
  return whole as ObjectOf<K>;
}

/** The object with what `fill` adds to it. Where that is nothing it stays as it came, with fields that nobody knows. */
export function withDefaults<T>(kind: Kind, object: T, fill: (given: T) => T): T {
  // Objects of a kind are what they are read as.
  const given = typed(kind, object) as T;
  const filled = fill(given);
  return isSame(given, filled) ? object : filled;
}

/** Whether the template is one of Pods, which the kind does not look into, and not one of its own. */
function isKeptWhole(kind: Kind): boolean {
  const template = specFieldsOf(kind)['template'];
  return template !== undefined && nodeOf(template).type === 'any';
}

/** What Go writes as null where it is missing, so that the server says what it should be. */
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
