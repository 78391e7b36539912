import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { type Action, create, patch } from '@kruise/client/actions';
import { podTemplateData, type RevisionContent, type RevisionPlan } from '@kruise/machinery/controller-revision';

type Templated = { readonly metadata: ObjectMeta; readonly spec?: { readonly template?: PodTemplateSpec } };

/** What the present template of a set makes a revision of. */
export function contentOf({ metadata, spec }: Templated): RevisionContent {
  const template = spec?.template ?? {};
  return { data: podTemplateData(template), labels: template.metadata?.labels, annotations: metadata.annotations };
}

/** Writes the revision a set goes to where it is new, or has come back. */
export function revisionActions({ change, update }: RevisionPlan): readonly Action[] {
  switch (change) {
    case 'create':
      return [create(update)];
    case 'renumber':
      return [patch(update, { revision: update.revision })];
    case 'none':
      return [];
  }
}
