/** Objects as Go's types have them: fields that nobody knows are gone, and the others are written as Go writes them. */
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { podTemplateSpec } from '@kruise/api/core/pod-template';
import { type Codec, codecOf } from '@kruise/schema/codec';
import type { Kind, ObjectOf } from '@kruise/schema/kind';

const templates = codecOf(podTemplateSpec);
const claims = codecOf(persistentVolumeClaim.root);

type Templated = {
  readonly spec?: { readonly selector?: unknown; readonly template?: unknown; readonly volumeClaimTemplates?: unknown };
};

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
      ...spec,
      ...(template == null ? {} : { template: templates.fromJson(template) }),
      ...(Array.isArray(volumeClaimTemplates)
        ? { volumeClaimTemplates: volumeClaimTemplates.map((claim) => claims.fromJson(claim)) }
        : {}),
    },
  };
  // It differs from what was read in how the templates are written.
  return whole as ObjectOf<K>;
}
