import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { type PodContainerProbe, type PodProbeMarker, podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { podProbeAnnotation, podProbeMarkerListAnnotation } from '@kruise/api/kruise/well-known';
import { isEmptySelector, selects } from '@kruise/api/meta/label-selector.validate';
import type { Caches } from '@kruise/client/informer';
import { stringify } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import type { WebhookContext } from '../../webhooks/context.ts';

/** Annotates Pods on virtual nodes, which have no kruise-daemon, with the probes that their provider should run. */
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

/** Returns the markers that a Pod names, otherwise those that select it, sorted by name. */
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

/** Returns the probes of the Pod's containers, one for each condition, and their markers. */
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
