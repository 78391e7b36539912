/** Names of huge pages: those of resources and those of cgroup files and of CRI. */
const pageUnits = [
  ['Gi', 'GB'],
  ['Mi', 'MB'],
  ['Ki', 'KB'],
] as const;

/** Returns the resource name of a page size: `hugepages-2Mi` of `2MB`. */
export function hugePageResourceOf(pageSize: string): string {
  const unit = pageUnits.find(([, suffix]) => pageSize.endsWith(suffix));
  return `hugepages-${unit ? `${pageSize.slice(0, -2)}${unit[0]}` : pageSize}`;
}

/** Returns the page size of a resource: `2MB` of `hugepages-2Mi`. */
export function pageSizeOf(resource: string): string | undefined {
  if (!resource.startsWith('hugepages-')) return undefined;
  const size = resource.slice('hugepages-'.length);
  const unit = pageUnits.find(([suffix]) => size.endsWith(suffix));
  return unit && `${size.slice(0, -2)}${unit[1]}`;
}
