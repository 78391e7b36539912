/** Probe entries of a Pod in a NodePodProbe. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Probe } from '@kruise/api/core/probe';
import type { ContainerProbe, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';

/** Returns the name prefix of a marker's probes in an entry. */
export function prefixOf({ metadata }: PodProbeMarker): string {
  return `${metadata.name}#`;
}

/** Returns the entry of a Pod with the current probes of a marker, without the marker's former probes. */
export function withProbes(entry: PodProbe | undefined, marker: PodProbeMarker, pod: Pod): PodProbe {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const wanted = (marker.spec.probes ?? []).flatMap((probe) => probeFor(marker, probe, pod) ?? []);
  const { probes: present = [], IP } = entry ?? {};
  const names = new Set(wanted.map((probe) => probe.name));
  const kept = present.filter((probe) => names.has(probe.name) || !probe.name.startsWith(prefixOf(marker)));
  const replaced = kept.map((probe) => wanted.find((each) => each.name === probe.name) ?? probe);
  const added = wanted.filter((probe) => !kept.some((each) => each.name === probe.name));
  return { name, namespace, uid, IP: IP || (pod.status?.podIP ?? ''), probes: [...replaced, ...added] };
}

/** Removes the probes of a marker from entries in its namespace, and entries without probes. */
export function withoutProbes(entries: readonly PodProbe[], marker: PodProbeMarker): readonly PodProbe[] {
  return entries.flatMap((entry) => {
    if (entry.namespace !== marker.metadata.namespace) return [entry];
    const { probes = [] } = entry;
    const left = probes.filter(({ name }) => !name.startsWith(prefixOf(marker)));
    if (left.length === probes.length) return [entry];
    return left.length > 0 ? [{ ...entry, probes: left }] : [];
  });
}

/** Returns the probe with a numeric port; undefined where the container lacks the named port. */
function probeFor(marker: PodProbeMarker, { name, containerName, probe }: PodContainerProbe, pod: Pod) {
  const container = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(
    (each) => each.name === containerName,
  );
  const resolved = withPort(probe, container);
  const found: ContainerProbe | undefined = resolved && {
    name: `${prefixOf(marker)}${name}`,
    containerName,
    probe: resolved,
  };
  return found;
}

function withPort(probe: Probe, container: Container | undefined): Probe | undefined {
  const { httpGet, tcpSocket } = probe;
  const given = (httpGet ?? tcpSocket)?.port;
  if (typeof given !== 'string') return probe;
  const named = container?.ports?.find(({ name }) => name === given)?.containerPort;
  const port = named ?? (/^\d{1,5}$/.test(given) ? Number(given) : undefined);
  if (port === undefined) return undefined;
  return {
    ...probe,
    ...(httpGet ? { httpGet: { ...httpGet, port } } : {}),
    ...(tcpSocket ? { tcpSocket: { ...tcpSocket, port } } : {}),
  };
}
