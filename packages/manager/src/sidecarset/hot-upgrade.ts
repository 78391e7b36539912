/** Sidecars that are never gone: two containers take turns, and the one whose turn it is not idles (sidecarset.md §11). */
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

/** The names of the two containers. */
export function pairOf({ name }: SidecarContainer): readonly [string, string] {
  return [`${name}-1`, `${name}-2`];
}

/** What a sidecar is called in Pods. */
export function namesInPod(sidecar: SidecarContainer): readonly string[] {
  return isHotUpgraded(sidecar) ? pairOf(sidecar) : [sidecar.name];
}

/** Which container of the pair works, and which stands by. Where nothing is said the second works. */
export function turnsOf(pod: Pod, sidecar: SidecarContainer): { readonly working: string; readonly standby: string } {
  const [first, second] = pairOf(sidecar);
  return workingContainersOf(pod)[sidecar.name] === first
    ? { working: first, standby: second }
    : { working: second, standby: first };
}

/** The two containers a sidecar becomes: the first works, the second idles. */
export function pairOfContainers(sidecar: SidecarContainer): readonly [SidecarContainer, SidecarContainer] {
  const [first, second] = pairOf(sidecar);
  const emptyImage = sidecar.upgradeStrategy?.hotUpgradeEmptyImage ?? '';
  return [withVersions({ ...sidecar, name: first }), withVersions({ ...sidecar, name: second, image: emptyImage })];
}

/** It learns from variables which version it is, and which the other container. */
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

/** What a Pod that has just been given pairs says of them. */
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
