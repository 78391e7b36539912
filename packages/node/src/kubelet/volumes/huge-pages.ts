/** Page sizes of emptyDir volumes of huge pages. */
import type { Pod } from '@kruise/api/core/pod';

const medium = 'HugePages';
const resourcePrefix = 'hugepages-';

/** Reports whether the medium of an emptyDir is huge pages, of any or one size. */
export function isHugePages(name: string | undefined): boolean {
  return name === medium || (name?.startsWith(`${medium}-`) ?? false);
}

/**
 * Returns the page size of an emptyDir, such as `2Mi`. The containers of the Pod must have pages of that size, and a
 * medium that names no size needs them to have only one.
 */
export function pageSizeOf({ spec }: Pod, name: string): string {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const sizes = new Set<string>();
  for (const { resources } of containers) {
    for (const resource of Object.keys({ ...resources?.requests, ...resources?.limits })) {
      if (resource.startsWith(resourcePrefix)) sizes.add(resource.slice(resourcePrefix.length));
    }
  }
  if (sizes.size === 0)
    throw new Error('hugePages storage requested, but there is no resource request for huge pages.');
  if (name !== medium) {
    const size = name.slice(medium.length + 1);
    if (!sizes.has(size))
      throw new Error(`medium ${JSON.stringify(name)} is not among the huge pages that the Pod requests`);
    return size;
  }
  const [size = '', ...others] = sizes;
  if (others.length > 0) {
    throw new Error('medium "HugePages" is ambiguous: the Pod requests huge pages of several sizes');
  }
  return size;
}
