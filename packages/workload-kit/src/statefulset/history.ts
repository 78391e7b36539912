import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { type Action, create, patch } from '@kruise/client/actions';
import { podTemplateData, type RevisionContent, type RevisionPlan } from '@kruise/machinery/controller-revision';

type Templated = { readonly metadata: ObjectMeta; readonly spec?: { readonly template?: PodTemplateSpec } };

/** Returns the revision content of the current template. */
export function contentOf({ metadata, spec }: Templated): RevisionContent {
  const template = spec?.template ?? {};
  return { data: podTemplateData(template), labels: template.metadata?.labels, annotations: metadata.annotations };
}

/** Writes the update revision if it is new or was rolled back to. */
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
