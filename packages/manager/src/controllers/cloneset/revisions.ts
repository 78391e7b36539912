/** The revisions of a CloneSet: its template, and beside it which volume claims it was made with. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { cloneSetVolumeClaimTemplateHashAnnotation } from '@kruise/api/kruise/well-known';
import { type Action, create, patch } from '@kruise/client/actions';
import { podTemplateData, type RevisionContent, type RevisionPlan } from '@kruise/machinery/controller-revision';
import { deepHashOfBytes } from '@kruise/machinery/hash';
import { codecOf } from '@kruise/schema/codec';
import { compareStrings } from '@kruise/values/go-syntax';

/** What the present template makes a revision of. */
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

/** A hash of names and specs; their order does not matter. Nothing where there are no templates. */
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

/** Writes the update revision where it is new, or has come back. */
export function writeRevision(cloneSet: CloneSet, { change, update }: RevisionPlan): readonly Action[] {
  if (change === 'none') return [];
  if (change === 'create') return [create(update)];
  const { annotations } = revisionContent(cloneSet);
  const hash = annotations?.[cloneSetVolumeClaimTemplateHashAnnotation];
  const metadata = { annotations: { [cloneSetVolumeClaimTemplateHashAnnotation]: hash } };
  return [patch(update, { metadata, revision: update.revision })];
}
