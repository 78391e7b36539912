/** A Pod as its workload's template describes it. */
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { controllerReference, type Owner } from './owner-references.ts';

const maxNameLength = 253;

/** A new Pod of a template, under the control of an owner and with a name that begins with the owner's. */
export function podFromTemplate(
  owner: Owner & { readonly metadata: { readonly namespace?: string } },
  template: PodTemplateSpec | undefined,
): Pod {
  const reference = controllerReference(owner);
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const { namespace } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: reference.name.length < maxNameLength ? `${reference.name}-` : reference.name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [reference],
    },
    ...(template?.spec ? { spec: template.spec } : {}),
  };
}
