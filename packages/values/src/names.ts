/**
 * Validation of names. Each function returns the error messages of Kubernetes; an empty list if the name is valid.
 *
 * ```ts
 * validateDns1123Label('web-1'); // []
 * ```
 */

/** Error messages; empty if the value is valid. */
export type Faults = readonly string[];

const none: Faults = [];

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const label1123WithUnderscore = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

type Format = {
  readonly maxLength?: number;
  readonly pattern: RegExp;
  /** Error message for a value that does not match. */
  readonly fault: string;
};

/** Creates a format and its error message: the rule, examples, and the regular expression. */
function format(
  rule: string,
  expression: string,
  examples: readonly string[],
  options: { readonly maxLength?: number; readonly pattern?: string } = {},
): Format {
  const shown = examples.length === 0 ? '' : `e.g. ${examples.map((example) => `'${example}', `).join(' or ')}`;
  return {
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
    pattern: new RegExp(`^${options.pattern ?? expression}$`),
    fault: `${rule} (${shown}regex used for validation is '${expression}')`,
  };
}

const formats = {
  dns1123Label: format(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    label1123,
    ['my-name', '123-abc'],
    { maxLength: 63 },
  ),
  dns1123Subdomain: format(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    subdomain1123,
    ['example.com'],
    { maxLength: 253 },
  ),
  dns1123SubdomainWithUnderscore: format(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
    // Kubernetes shows the expression without underscores in the message, but uses the one with underscores.
    subdomain1123,
    ['example.com'],
    { maxLength: 253, pattern: `${label1123WithUnderscore}(\\.${label1123WithUnderscore})*` },
  ),
  dns1035Label: format(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    label1035,
    ['my-name', 'abc-123'],
    { maxLength: 63 },
  ),
  wildcardSubdomain: format(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    `\\*\\.${subdomain1123}`,
    ['*.example.com'],
    { maxLength: 253 },
  ),
  qualifiedName: format(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    qualifiedName,
    ['MyName', 'my.name', '123-abc'],
    { maxLength: 63 },
  ),
  labelValue: format(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    `(${qualifiedName})?`,
    ['MyValue', 'my_value', '12345'],
    { maxLength: 63 },
  ),
  cIdentifier: format(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    '[A-Za-z_][A-Za-z0-9_]*',
    ['my_name', 'MY_NAME', 'MyName'],
  ),
  percent: format("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', [
    '1%',
    '93%',
  ]),
  httpHeader: format("a valid HTTP header must consist of alphanumeric characters or '-'", '[-A-Za-z0-9]+', [
    'X-Header-Name',
  ]),
  environmentVariable: format(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    '[-._a-zA-Z][-._a-zA-Z0-9]*',
    ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
  ),
  configMapKey: format(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    '[-._a-zA-Z0-9]+',
    ['key.name', 'KEY_NAME', 'key-name'],
    { maxLength: 253 },
  ),
  httpPath: format('Invalid path', "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", []),
} as const;

function check(value: string, { maxLength, pattern, fault }: Format): Faults {
  const isTooLong = maxLength !== undefined && isLongerThan(value, maxLength);
  const matches = pattern.test(value);
  if (!isTooLong && matches) return none;
  const faults: string[] = [];
  if (isTooLong) faults.push(maxLengthFault(maxLength));
  if (!matches) faults.push(fault);
  return faults;
}

/** Validates a DNS label: names of most Services, ports, containers and namespaces. */
export function validateDns1123Label(value: string): Faults {
  const faults = check(value, formats.dns1123Label);
  if (faults.length === 0 || !formats.dns1123Subdomain.pattern.test(value)) return faults;
  return faults.map((fault) => (fault === formats.dns1123Label.fault ? 'must not contain dots' : fault));
}

/** Validates a DNS subdomain: names of most objects. */
export function validateDns1123Subdomain(value: string): Faults {
  return check(value, formats.dns1123Subdomain);
}

/** Validates a DNS subdomain whose labels may contain underscores. */
export function validateDns1123SubdomainWithUnderscore(value: string): Faults {
  return check(value, formats.dns1123SubdomainWithUnderscore);
}

/** Validates a DNS label that starts with a letter: names of Services. */
export function validateDns1035Label(value: string): Faults {
  return check(value, formats.dns1035Label);
}

/** Validates a DNS subdomain whose first label is `*`. */
export function validateWildcardDns1123Subdomain(value: string): Faults {
  return check(value, formats.wildcardSubdomain);
}

/** Validates the key of a label, an annotation or a resource: `name` or `example.com/name`. */
export function validateQualifiedName(value: string): Faults {
  const parts = value.split('/', 3);
  if (parts.length === 3) {
    return [
      `a qualified name ${formats.qualifiedName.fault} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.pop() ?? '';
  const [prefix] = parts;
  const prefixFaults =
    prefix === undefined ? none : prefix === '' ? ['must be non-empty'] : validateDns1123Subdomain(prefix);
  const emptyFault = name === '' ? ['must be non-empty'] : none;
  const nameFaults = check(name, formats.qualifiedName);
  if (prefixFaults.length + nameFaults.length === 0) return none;
  return [
    ...prefixFaults.map((fault) => `prefix part ${fault}`),
    ...[...emptyFault, ...nameFaults].map((fault) => `name part ${fault}`),
  ];
}

/** Validates the value of a label. */
export function validateLabelValue(value: string): Faults {
  return check(value, formats.labelValue);
}

/** Validates a C identifier. */
export function validateCIdentifier(value: string): Faults {
  return check(value, formats.cIdentifier);
}

/** Validates a percentage such as `25%`. */
export function validatePercent(value: string): Faults {
  return check(value, formats.percent);
}

/** Validates the name of an HTTP header. */
export function validateHttpHeaderName(value: string): Faults {
  return check(value, formats.httpHeader);
}

/** Validates the name of an environment variable by the strict rule of older clusters. */
export function validateEnvironmentVariableName(value: string): Faults {
  return [...check(value, formats.environmentVariable), ...parentFolderFaults(value)];
}

/** Validates the name of an environment variable: any printable ASCII character except `=`. */
export function validateRelaxedEnvironmentVariableName(value: string): Faults {
  if (value === '') return ['environment variable name must be non-empty'];
  if (/^[ -<>-~]*$/.test(value)) return none;
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Validates a key of the data of a ConfigMap or Secret. */
export function validateConfigMapKey(value: string): Faults {
  return [...check(value, formats.configMapKey), ...parentFolderFaults(value)];
}

/** Keys become file names, which must not leave their directory. */
function parentFolderFaults(value: string): Faults {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : none;
}

/** Validates the name of a port (RFC 6335, in lower case). */
export function validatePortName(value: string): Faults {
  const faults: string[] = [];
  if (isLongerThan(value, 15)) faults.push(maxLengthFault(15));
  if (!/^[-a-z0-9]+$/.test(value))
    faults.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) faults.push('must contain at least one letter (a-z)');
  if (value.includes('--')) faults.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) faults.push('must not begin or end with a hyphen');
  return faults;
}

/** Validates a port number: 1 to 65535. */
export function validatePortNumber(value: number): Faults {
  return validateInRange(value, 1, 65535);
}

/** Validates a number in an inclusive range. */
export function validateInRange(value: number, minimum: number, maximum: number): Faults {
  return value >= minimum && value <= maximum ? none : [`must be between ${minimum} and ${maximum}, inclusive`];
}

/** Validates a Linux user id. */
export function validateUserId(value: number): Faults {
  return validateInRange(value, 0, 2 ** 31 - 1);
}

/** Validates a Linux group id. */
export function validateGroupId(value: number): Faults {
  return validateInRange(value, 0, 2 ** 31 - 1);
}

/** Validates a path segment of a URL: the minimal rule for names of objects. */
export function validatePathSegment(value: string): Faults {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return validatePathSegmentPrefix(value);
}

/** Validates the prefix of a path segment. */
export function validatePathSegmentPrefix(value: string): Faults {
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Validates a DNS name with at least three labels, as in names of conditions and finalizers. */
export function validateFullyQualifiedName(value: string): Faults {
  const faults = validateDns1123Subdomain(value);
  if (faults.length > 0) return [faults.join(',')];
  return value.split('.').length < 3 ? ['should be a domain with at least three segments separated by dots'] : none;
}

/** Validates a DNS name with at least two labels, with an optional trailing dot. */
export function validateFullyQualifiedDomainName(value: string): Faults {
  const name = value.endsWith('.') ? value.slice(0, -1) : value;
  const faults = validateDns1123Subdomain(name);
  if (faults.length > 0) return [faults.join(',')];
  const labels = name.split('.');
  if (labels.length < 2) return ['should be a domain with at least two segments separated by dots'];
  for (const label of labels) {
    const labelFaults = validateDns1123Label(label);
    if (labelFaults.length > 0) return [labelFaults.join(',')];
  }
  return none;
}

/** Validates a domain with a path such as `example.com/foo`: names of signers and controllers. */
export function validateDomainPrefixedPath(value: string): Faults {
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  return [...validateDns1123Subdomain(value.slice(0, slash)), ...check(value.slice(slash + 1), formats.httpPath)];
}

/** Validates a `generateName` prefix: a trailing dash is allowed, because the server appends a suffix. */
export function validatePrefix(validate: (value: string) => Faults, prefix: string): Faults {
  return validate(prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix);
}

function maxLengthFault(maximum: number): string {
  return `must be no more than ${maximum} characters`;
}

/** Lengths are in UTF-8 bytes, which matters only for invalid characters. */
function isLongerThan(value: string, maximum: number): boolean {
  if (value.length > maximum) return true;
  return value.length * 3 > maximum && Buffer.byteLength(value) > maximum;
}
