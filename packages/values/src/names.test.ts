import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Faults,
  validateCIdentifier,
  validateConfigMapKey,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateDomainPrefixedPath,
  validateEnvironmentVariableName,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
  validateGroupId,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegment,
  validatePercent,
  validatePortName,
  validatePortNumber,
  validatePrefix,
  validateQualifiedName,
  validateRelaxedEnvironmentVariableName,
  validateUserId,
  validateWildcardDns1123Subdomain,
} from './names.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const qualified =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const cases: readonly (readonly [(value: string) => Faults, string, Faults])[] = [
  [validateDns1123Label, 'my-name', []],
  [validateDns1123Label, 'a.b', ['must not contain dots']],
  [validateDns1123Label, '-a', [label]],
  [validateDns1123Label, 'a\n', [label]],
  [validateDns1123Label, 'a'.repeat(63), []],
  [validateDns1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
  [validateDns1123Label, 'é'.repeat(32), ['must be no more than 63 characters', label]],
  [validateDns1123Subdomain, 'a.b-c.d', []],
  [validateDns1123Subdomain, 'A', [subdomain]],
  [validateDns1123Subdomain, '', [subdomain]],
  [validateDns1123Subdomain, 'a..b', [subdomain]],
  [validateDns1123Subdomain, `${'a'.repeat(254)}!`, ['must be no more than 253 characters', subdomain]],
  [validateDns1123SubdomainWithUnderscore, '_a.b_c', []],
  [
    validateDns1035Label,
    '1a',
    [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [validateWildcardDns1123Subdomain, '*.example.com', []],
  [
    validateWildcardDns1123Subdomain,
    '*.*.com',
    [
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [validateQualifiedName, 'example.com/My_Name', []],
  [validateQualifiedName, '', ['name part must be non-empty', `name part ${qualified}`]],
  [validateQualifiedName, '/a', ['prefix part must be non-empty']],
  [validateQualifiedName, 'A/b', [`prefix part ${subdomain}`]],
  [validateQualifiedName, `a/${'b'.repeat(64)}`, ['name part must be no more than 63 characters']],
  [
    validateQualifiedName,
    'a/b/c',
    [`a qualified name ${qualified} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
  ],
  [validateLabelValue, '', []],
  [
    validateLabelValue,
    'a b',
    [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [validateCIdentifier, '_a1', []],
  [validatePercent, '100%', []],
  [
    validatePercent,
    '%',
    [
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    validateHttpHeaderName,
    'X_Y',
    [
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
  [validateEnvironmentVariableName, 'my.env-name', []],
  [validateEnvironmentVariableName, '..', ["must not be '..'"]],
  [validateEnvironmentVariableName, '..a', ["must not start with '..'"]],
  [validateRelaxedEnvironmentVariableName, '1 ~', []],
  [
    validateRelaxedEnvironmentVariableName,
    'a=b',
    ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
  ],
  [validateRelaxedEnvironmentVariableName, '', ['environment variable name must be non-empty']],
  [validateConfigMapKey, '.hidden_File-1', []],
  [validateConfigMapKey, '.', ["must not be '.'"]],
  [validatePortName, 'http-2', []],
  [
    validatePortName,
    '',
    [
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'must contain at least one letter (a-z)',
    ],
  ],
  [
    validatePortName,
    '-a--b0123456789-',
    [
      'must be no more than 15 characters',
      'must not contain consecutive hyphens',
      'must not begin or end with a hyphen',
    ],
  ],
  [validatePathSegment, 'system:node', []],
  [validatePathSegment, '..', ["may not be '..'"]],
  [validatePathSegment, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
  [validateFullyQualifiedName, 'a.b', ['should be a domain with at least three segments separated by dots']],
  [validateFullyQualifiedDomainName, 'a.b.', []],
  [validateFullyQualifiedDomainName, 'a', ['should be a domain with at least two segments separated by dots']],
  [validateFullyQualifiedDomainName, `a.${'b'.repeat(64)}`, ['must be no more than 63 characters']],
  [validateDomainPrefixedPath, 'acme.io/foo~', []],
  [validateDomainPrefixedPath, 'acme.io', ['must be a domain-prefixed path (such as "acme.io/foo")']],
  [
    validateDomainPrefixedPath,
    'acme.io/a b',
    ["Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"],
  ],
];
for (const [validate, value, faults] of cases) {
  const outcome = faults.length === 0 ? 'allows' : 'refuses';
  test(`${validate.name} ${outcome} ${JSON.stringify(value.slice(0, 20))}`, () => {
    assert.deepEqual(validate(value), faults);
  });
}

test('a beginning of a name may end in a dash', () => {
  assert.deepEqual(validatePrefix(validateDns1123Subdomain, 'web-'), []);
  assert.equal(validatePrefix(validateDns1123Subdomain, '-').length, 1);
});

test('numbers have bounds', () => {
  assert.deepEqual(validatePortNumber(65535), []);
  assert.deepEqual(validatePortNumber(0), ['must be between 1 and 65535, inclusive']);
  assert.deepEqual(validateUserId(-1), ['must be between 0 and 2147483647, inclusive']);
  assert.deepEqual(validateGroupId(2 ** 31), ['must be between 0 and 2147483647, inclusive']);
});

test('a megabyte is refused in linear time', () => {
  const megabyte = `${'a-.'.repeat(333_333)}!`;
  for (const validate of [validateDns1123Subdomain, validateQualifiedName, validateLabelValue, validatePortName]) {
    assert.notEqual(validate(megabyte).length, 0);
  }
});
