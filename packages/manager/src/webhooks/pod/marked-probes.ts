import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { type PodContainerProbe, type PodProbeMarker, podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { podProbeAnnotation, podProbeMarkerListAnnotation } from '@kruise/api/kruise/well-known';
import { isEmptySelector, selects } from '@kruise/api/meta/label-selector.validate';
import type { Caches } from '@kruise/client/informer';
import { stringify } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import type { WebhookContext } from '../context.ts';

/** Tells whoever runs a Pod where no daemon is what to probe in it (operations.md §B5). */
export function withMarkedProbes(pod: Pod, { caches, settings }: WebhookContext): Pod {
  if (!settings.gates.EnablePodProbeMarkerOnServerless || caches.of(podProbeMarker).size === 0) return pod;
  const { names, probes } = probesFor(pod, markersOf(pod, caches));
  if (probes.length === 0) return pod;
  const annotations = {
    ...pod.metadata.annotations,
    [podProbeAnnotation]: stringify(probes),
    [podProbeMarkerListAnnotation]: [...names].sort(compareStrings).join(','),
  };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** The markers a Pod names itself, or else those that are for it, in order of their names. */
function markersOf({ metadata }: Pod, caches: Caches): readonly PodProbeMarker[] {
  const { namespace = '', labels, annotations } = metadata;
  const markers = caches.of(podProbeMarker);
  const named = annotations?.[podProbeMarkerListAnnotation];
  if (named) return named.split(',').flatMap((name) => markers.get({ namespace, name }) ?? []);
  return markers
    .list({ namespace })
    .filter(({ spec: { selector } }) => !isEmptySelector(selector) && selects(selector, labels))
    .toSorted((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''));
}

type Found = { readonly names: ReadonlySet<string>; readonly probes: readonly PodContainerProbe[] };

/** Every probe of a container there is, but one for each condition; and of which markers they are. */
function probesFor({ spec }: Pod, markers: readonly PodProbeMarker[]): Found {
  const native = (spec?.initContainers ?? []).filter(isSidecar);
  const containers = new Set([...(spec?.containers ?? []), ...native].map(({ name }) => name));
  const names = new Set<string>();
  const probes: PodContainerProbe[] = [];
  for (const { metadata, spec: wanted } of markers) {
    for (const { name, containerName, probe, podConditionType } of wanted.probes) {
      if (!podConditionType || !containers.has(containerName)) continue;
      const isRepeated = probes.some(
        (each) =>
          each.podConditionType === podConditionType || (each.containerName === containerName && each.name === name),
      );
      if (isRepeated) continue;
      probes.push({ name, containerName, probe, podConditionType });
      names.add(metadata.name ?? '');
    }
  }
  return { names, probes };
}
