import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import type { Pod } from '@kruise/api/core/pod';
import { type SidecarSet, sidecarSet } from '@kruise/api/kruise/sidecarset';
import { isEmptySelector, selects } from '@kruise/api/meta/label-selector.validate';
import type { Caches } from '@kruise/client/informer';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodActive } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { WebhookContext } from '../../webhooks/context.ts';
import { scaledValue } from '../../workload/percent.ts';
import { baseOf } from '../canary.ts';
import { chosenRevision, restored } from '../history.ts';
import { withSidecarsOf } from '../inject.ts';

/** Injects the sidecars of every SidecarSet that selects the Pod. */
export function withSidecars(pod: Pod, context: WebhookContext): Pod {
  if (!isPodActive(pod)) return pod;
  const { caches, settings, now } = context;
  const matching = inOrder(
    caches
      .of(sidecarSet)
      .list()
      .filter((each) => isFor(each, pod, caches)),
  );
  const chosen = matching.map((each) => suitable(each, pod, context));
  const bases = new Set(chosen.map(baseOf));
  const sidecarSets = chosen.filter(({ metadata }) => !bases.has(metadata.name));
  if (sidecarSets.length === 0) return pod;
  return withSidecarsOf(pod, sidecarSets, { sortsByName: settings.gates.EnableSortSidecarContainerByName, now: now() });
}

function isFor({ spec }: SidecarSet, { metadata }: Pod, caches: Caches): boolean {
  const { injectionStrategy, selector, namespaceSelector } = spec;
  if (injectionStrategy?.paused || !selector || isEmptySelector(selector)) return false;
  if (!selects(selector, metadata.labels)) return false;
  if (!namespaceSelector) return true;
  const place = caches.of(namespaceKind).get(metadata.namespace || 'default');
  return place !== undefined && selects(namespaceSelector, place.metadata.labels);
}

/** Sorts SidecarSets: those that name namespaces are applied first. */
function inOrder(sidecarSets: readonly SidecarSet[]): readonly SidecarSet[] {
  const rank = (each: SidecarSet) => (namesNamespaces(each) ? 0 : 1);
  return sidecarSets.toSorted(
    (a, b) => rank(a) - rank(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''),
  );
}

function namesNamespaces({ spec: { namespaceSelector } }: SidecarSet): boolean {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector ?? {};
  const key = 'kubernetes.io/metadata.name';
  return Object.hasOwn(matchLabels, key) || matchExpressions.some((each) => each.key === key && each.operator === 'In');
}

/** Returns the SidecarSet, or its state at the revision that newly created Pods should get. */
function suitable(found: SidecarSet, pod: Pod, { caches, settings, random }: WebhookContext): SidecarSet {
  const { injectionStrategy, updateStrategy = {} } = found.spec;
  const { revision } = injectionStrategy ?? {};
  if (!revision || (revision.revisionName === undefined && revision.customVersion === undefined)) return found;
  const former = restored(found, chosenRevision(caches, settings.namespace, found, revision));
  if (updateStrategy.paused || revision.policy !== 'Partial') return former;
  const { selector, partition } = updateStrategy;
  if (selector && !selectorOf(selector).matches(pod.metadata.labels)) return former;
  if (typeof partition !== 'string') return found;
  return random.next() <= scaledValue(partition, 1, (share) => share) ? former : found;
}
