import type { NodeSelectorRequirement, PreferredSchedulingTerm } from '@kruise/api/core/affinity';
import type { Pod } from '@kruise/api/core/pod';
import { type PersistentPodStateSpec, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { injectedPersistentPodStateAnnotation } from '@kruise/api/kruise/well-known';
import { controllerOf } from '@kruise/machinery/owner-references';
import type { WebhookContext } from '../../webhooks/context.ts';
import { isListed, isStatefulSet, readAllowlistFrom } from '../allowlist.ts';
import { stateFor } from '../target.ts';

type Labels = { readonly [key: string]: string };

/** Adds node affinity to the topology of the previous Pod of the same name, according to its PersistentPodState. */
export function withFormerTopology(pod: Pod, { caches, settings }: WebhookContext): Pod {
  const owner = controllerOf(pod);
  if (!owner || caches.of(persistentPodState).size === 0) return pod;
  const { name = '', namespace = '' } = pod.metadata;
  const state = stateFor(caches, namespace, owner);
  const labels = state?.status?.podStates?.[name]?.nodeTopologyLabels;
  if (!state || !labels || Object.keys(labels).length === 0) return pod;
  if (!isStatefulSet(owner) && !isListed(readAllowlistFrom(caches, settings.namespace), owner)) return pod;
  return drawn(pod, state.metadata.name ?? '', requirementsOf(state.spec, labels));
}

type Requirements = { readonly required: Labels; readonly preferred: readonly PreferredSchedulingTerm[] };

function requirementsOf(spec: PersistentPodStateSpec, labels: Labels): Requirements {
  const known = (keys: readonly string[]) => keys.filter((key) => Object.hasOwn(labels, key));
  const expression = (key: string): NodeSelectorRequirement => ({ key, operator: 'In', values: [labels[key]!] });
  const { requiredPersistentTopology, preferredPersistentTopology = [] } = spec;
  return {
    required: Object.fromEntries(known(requiredPersistentTopology?.keys ?? []).map((key) => [key, labels[key]!])),
    preferred: preferredPersistentTopology.map(({ weight, preference }) => {
      const matchExpressions = known(preference.keys).map(expression);
      return { weight, preference: matchExpressions.length > 0 ? { matchExpressions } : {} };
    }),
  };
}

/**
 * Returns the Pod with required and preferred node affinity. Its own terms stay, except for labels that are now
 * required.
 */
function drawn(pod: Pod, stateName: string, { required, preferred }: Requirements): Pod {
  const { metadata, spec = { containers: [] } } = pod;
  const isRequired = Object.keys(required).length > 0;
  if (!isRequired && preferred.length === 0) return pod;
  const { affinity = {} } = spec;
  const terms = affinity.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const nodeAffinity = {
    ...affinity.nodeAffinity,
    preferredDuringSchedulingIgnoredDuringExecution: [...terms, ...preferred],
  };
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [injectedPersistentPodStateAnnotation]: stateName },
    },
    spec: {
      ...spec,
      ...(isRequired ? { nodeSelector: { ...spec.nodeSelector, ...required } } : {}),
      ...(preferred.length > 0 ? { affinity: { ...affinity, nodeAffinity } } : {}),
    },
  };
}
