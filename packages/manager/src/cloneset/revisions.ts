/** Revisions of a CloneSet: the Pod template and a hash of the volume claim templates. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { cloneSetVolumeClaimTemplateHashAnnotation } from '@kruise/api/kruise/well-known';
import { type Action, create, patch } from '@kruise/client/actions';
import { podTemplateData, type RevisionContent, type RevisionPlan } from '@kruise/machinery/controller-revision';
import { deepHashOfBytes } from '@kruise/machinery/hash';
import { codecOf } from '@kruise/schema/codec';
import { compareStrings } from '@kruise/values/go-syntax';

/** Returns the revision content of the current template. */
export function revisionContent({ metadata, spec }: CloneSet): RevisionContent {
  return {
    data: podTemplateData(spec.template),
    labels: spec.template.metadata?.labels,
    annotations: {
      ...metadata.annotations,
      [cloneSetVolumeClaimTemplateHashAnnotation]: volumeClaimTemplatesHash(spec.volumeClaimTemplates ?? []),
    },
  };
}

const claimCodec = codecOf(persistentVolumeClaim.root);

/**
 * Hashes names and specs of volume claim templates, in any order. Returns an empty string where there are no templates.
 */
export function volumeClaimTemplatesHash(templates: readonly PersistentVolumeClaim[]): string {
  if (templates.length === 0) return '';
  const texts = templates
    .toSorted((a, b) => compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? ''))
    .map(({ metadata, spec }) => {
      const name = metadata?.name;
      const template = { metadata: name ? { name } : {}, ...(spec ? { spec } : {}) } as PersistentVolumeClaim;
      return claimCodec.toJson(claimCodec.canonical(template));
    });
  return String(deepHashOfBytes(new TextEncoder().encode(`[${texts.join(',')}]`)));
}

/** Writes the update revision where the revision is new, or where a rollback makes an old revision the newest one. */
export function writeRevision(cloneSet: CloneSet, { change, update }: RevisionPlan): readonly Action[] {
  if (change === 'none') return [];
  if (change === 'create') return [create(update)];
  const { annotations } = revisionContent(cloneSet);
  const hash = annotations?.[cloneSetVolumeClaimTemplateHashAnnotation];
  const metadata = { annotations: { [cloneSetVolumeClaimTemplateHashAnnotation]: hash } };
  return [patch(update, { metadata, revision: update.revision })];
}
