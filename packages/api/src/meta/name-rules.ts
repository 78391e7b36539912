import {
  type Faults,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegment,
  validatePathSegmentPrefix,
  validatePrefix,
} from '@kruise/values/names';

/** Rules for the names and the generateName prefixes of a kind. */
export type NameRule = {
  readonly whole: (name: string) => Faults;
  readonly prefix: (prefix: string) => Faults;
};

function ruleOf(whole: (name: string) => Faults): NameRule {
  return { whole, prefix: (prefix) => validatePrefix(whole, prefix) };
}

/** A DNS subdomain name: most kinds. */
export const subdomainName: NameRule = ruleOf(validateDns1123Subdomain);
/** A DNS label: namespaces, StatefulSets. */
export const labelName: NameRule = ruleOf(validateDns1123Label);
/** A DNS label that starts with a letter: Services. */
export const serviceName: NameRule = ruleOf(validateDns1035Label);
/** Any segment of a URL path: roles and their bindings. */
export const pathSegmentName: NameRule = { whole: validatePathSegment, prefix: validatePathSegmentPrefix };
