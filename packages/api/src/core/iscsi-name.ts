/**
 * Checks an iSCSI name that begins with `iqn`: it must end with `iqn.`, a year and month, a naming authority and an
 * identifier after `:`; Kubernetes allows any text before that. One pattern for the whole name would take quadratic time
 * on a name that repeats `iqn.2001-04.`.
 */
export function endsWithQualifiedName(name: string): boolean {
  const allowed = name.split(/[,;*&$|\s]/).at(-1)!;
  const parts = allowed.split(':');
  return parts.some((part, index) => {
    const hasIdentifier = index < parts.length - 2 || (index === parts.length - 2 && parts.at(-1) !== '');
    const authority = part.split(/[^A-Za-z0-9\-.]/).at(-1)!;
    return hasIdentifier && /iqn\.\d{4}-\d{2}\../.test(authority);
  });
}
