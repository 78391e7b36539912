import {
  type Faults,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegment,
  validatePathSegmentPrefix,
  validatePrefix,
} from '@kruise/values/names';

/** What objects of a kind may be named, and what the server may be asked to begin a name with. */
export type NameRule = {
  readonly whole: (name: string) => Faults;
  readonly prefix: (prefix: string) => Faults;
};

function ruleOf(whole: (name: string) => Faults): NameRule {
  return { whole, prefix: (prefix) => validatePrefix(whole, prefix) };
}

/** A DNS name: most kinds. */
export const subdomainName: NameRule = ruleOf(validateDns1123Subdomain);
/** One label of a DNS name: namespaces, StatefulSets. */
export const labelName: NameRule = ruleOf(validateDns1123Label);
/** A label that starts with a letter: Services. */
export const serviceName: NameRule = ruleOf(validateDns1035Label);
/** Anything that fits into a URL's path: roles and their bindings. */
export const pathSegmentName: NameRule = { whole: validatePathSegment, prefix: validatePathSegmentPrefix };
