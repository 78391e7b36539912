import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type NodePodProbe, nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { isVirtualNode } from '../workload/nodes.ts';
import { decide, type Observed } from './decide.ts';
import { isProbed, markersOfPod } from './mappers.ts';

export function podProbeMarkerController(settings: ManagerSettings): Controller {
  const marksVirtualPods = settings.gates.EnablePodProbeMarkerOnServerless;
  return defineController({
    ...workSettings(settings, 'podprobemarker'),
    for: podProbeMarker,
    watches: [watch(pod, markersOfPod({ marksVirtualPods })), watch(nodePodProbe, markersForNewNode)],
    uses: [node],
    observe(caches, key) {
      const observed = observe(caches, key);
      return observed && { ...observed, marksVirtualPods };
    },
    decide,
  });
}

function observe(caches: Caches, key: Key): Omit<Observed, 'marksVirtualPods'> | undefined {
  const marker = caches.of(podProbeMarker).get(key);
  if (!marker) return undefined;
  const { namespace = '' } = marker.metadata;
  const selector = selectorOf(marker.spec.selector);
  const nodeOf = ({ spec }: Pod) => caches.of(node).get(spec?.nodeName ?? '');
  const pods = caches
    .of(pod)
    .list({ namespace })
    .filter((each) => isProbed(each) && selector.matches(each.metadata.labels) && nodeOf(each));
  const isVirtual = (each: Pod) => isVirtualNode(nodeOf(each)!);
  return {
    marker,
    pods: pods.filter((each) => !isVirtual(each)),
    virtualPods: pods.filter(isVirtual),
    nodePodProbes: caches.of(nodePodProbe).list(),
  };
}

/** Enqueues all markers when a NodePodProbe is created: its node may already have Pods to probe. */
function markersForNewNode({ type, cause }: Change<NodePodProbe>, caches: Caches): readonly Key[] {
  return type === 'added' && cause !== 'initial' ? caches.of(podProbeMarker).list().map(keyOf) : [];
}
