/** Pods from the template of a workload. */
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { controllerReference, type Owner } from './owner-references.ts';

const maxNameLength = 253;

/**
 * * Returns a Pod from a template, with a controller reference to its owner and the name of the owner as `generateName`.
 *
 * ```ts
 * const created = await client.create(pod, podFromTemplate(set, template));
 * ```
 */
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
