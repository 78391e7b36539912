/** Hot upgrade: two containers alternate, one works while the other runs an idle image. */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetVersionAltAnnotationPrefix,
  sidecarSetVersionAltEnv,
  sidecarSetVersionAnnotationPrefix,
  sidecarSetVersionEnv,
  sidecarSetWorkingHotUpgradeAnnotation,
} from '@kruise/api/kruise/well-known';
import { formatWorkingContainers, workingContainersOf } from './marks.ts';

export function isHotUpgraded({ upgradeStrategy }: SidecarContainer): boolean {
  return upgradeStrategy?.upgradeType === 'HotUpgrade';
}

/** Returns the names of the two containers. */
export function pairOf({ name }: SidecarContainer): readonly [string, string] {
  return [`${name}-1`, `${name}-2`];
}

/** Returns the container names of a sidecar in Pods. */
export function namesInPod(sidecar: SidecarContainer): readonly string[] {
  return isHotUpgraded(sidecar) ? pairOf(sidecar) : [sidecar.name];
}

/** Returns the working and the idle container of the pair. Without an annotation the second one works. */
export function workingPairOf(
  pod: Pod,
  sidecar: SidecarContainer,
): { readonly working: string; readonly standby: string } {
  const [first, second] = pairOf(sidecar);
  return workingContainersOf(pod)[sidecar.name] === first
    ? { working: first, standby: second }
    : { working: second, standby: first };
}

/** Returns the two containers of a hot-upgrade sidecar: the first works, the second is idle. */
export function pairOfContainers(sidecar: SidecarContainer): readonly [SidecarContainer, SidecarContainer] {
  const [first, second] = pairOf(sidecar);
  const emptyImage = sidecar.upgradeStrategy?.hotUpgradeEmptyImage ?? '';
  return [withVersions({ ...sidecar, name: first }), withVersions({ ...sidecar, name: second, image: emptyImage })];
}

/** Adds the variables with the version of the container and that of the other container. */
function withVersions(sidecar: SidecarContainer): SidecarContainer {
  const from = (name: string, prefix: string) => ({
    name,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${prefix}${sidecar.name}']` } },
  });
  const versions = [
    from(sidecarSetVersionEnv, sidecarSetVersionAnnotationPrefix),
    from(sidecarSetVersionAltEnv, sidecarSetVersionAltAnnotationPrefix),
  ];
  return { ...sidecar, env: [...(sidecar.env ?? []), ...versions] };
}

/** Returns the annotations of a Pod whose pairs were just injected. */
export function pairAnnotations(
  pod: Pod,
  pairs: readonly SidecarContainer[],
): { readonly [annotation: string]: string } {
  if (pairs.length === 0) return {};
  const versions = pairs.flatMap((sidecar) => {
    const [first, second] = pairOf(sidecar);
    return [
      [`${sidecarSetVersionAnnotationPrefix}${first}`, '1'],
      [`${sidecarSetVersionAltAnnotationPrefix}${first}`, '0'],
      [`${sidecarSetVersionAnnotationPrefix}${second}`, '0'],
      [`${sidecarSetVersionAltAnnotationPrefix}${second}`, '1'],
    ];
  });
  const working = Object.fromEntries(pairs.map((sidecar) => [sidecar.name, pairOf(sidecar)[0]]));
  return {
    ...Object.fromEntries(versions),
    [sidecarSetWorkingHotUpgradeAnnotation]: formatWorkingContainers({ ...workingContainersOf(pod), ...working }),
  };
}
