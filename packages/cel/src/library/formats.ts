/** Named formats of Kubernetes: `format.dns1123Label().validate('my-name')`. */
import {
  type Faults,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validatePrefix,
  validateQualifiedName,
} from '@kruise/values/names';
import { attempt } from '../attempt.ts';
import { ArrayList } from '../collections.ts';
import { constantCost, regexCost, regexFactor, scale, stringFactor } from '../costs.ts';
import { type FunctionDeclaration, method, overload } from '../functions.ts';
import { parseRequestUrl } from '../go-url.ts';
import type { Library } from '../library.ts';
import { daysSinceEpoch } from '../time.ts';
import { sizeOf } from '../type-names.ts';
import { listType, objectType, optionalType, stringType } from '../types.ts';
import { EvaluationError, none, ObjectValue, Optional, orNoSuchOverload, type Value } from '../values.ts';

/** `kubernetes.NamedFormat`. */
export const formatType = objectType('kubernetes.NamedFormat');

/** Maximum pattern length of any format, for estimates. */
const maxPatternLength = 128;

/** A format as a CEL value. */
export class FormatValue extends ObjectValue {
  readonly typeName = formatType.name;
  readonly name: string;
  /** Length of the pattern whose matching cost a validation has. */
  readonly patternLength: number;
  readonly validate: (text: string) => Faults;

  constructor(name: string, patternLength: number, validate: (text: string) => Faults) {
    super();
    this.name = name;
    this.patternLength = patternLength;
    this.validate = validate;
  }

  equals(other: Value): boolean | EvaluationError {
    return other instanceof FormatValue ? this.name === other.name : orNoSuchOverload(other);
  }

  override toJson(): string {
    return this.name;
  }
}

const prefixOf =
  (validate: (text: string) => Faults) =>
  (text: string): Faults =>
    validatePrefix(validate, text);

const matching =
  (isValid: (text: string) => boolean, fault: string) =>
  (text: string): Faults =>
    isValid(text) ? [] : [fault];

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const timeOfDay = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return match !== null && daysSinceEpoch(Number(match[1]), Number(match[2]), Number(match[3])) !== undefined;
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date!)) return false;
  const match = timeOfDay.exec(time);
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

function uriFaults(text: string): Faults {
  const url = attempt(() => parseRequestUrl(text));
  return url instanceof EvaluationError ? [url.message] : [];
}

const formats: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', new FormatValue('DNS1123Label', 30, validateDns1123Label)],
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', 60, validateDns1123Subdomain)],
  ['dns1035Label', new FormatValue('DNS1035Label', 30, validateDns1035Label)],
  ['qualifiedName', new FormatValue('QualifiedName', 60, validateQualifiedName)],
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', 30, prefixOf(validateDns1123Label))],
  ['dns1123SubdomainPrefix', new FormatValue('DNS1123SubdomainPrefix', 60, prefixOf(validateDns1123Subdomain))],
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', 30, prefixOf(validateDns1035Label))],
  ['labelValue', new FormatValue('LabelValue', 40, validateLabelValue)],
  ['uri', new FormatValue('URI', 1103, uriFaults)],
  [
    'uuid',
    new FormatValue(
      'uuid',
      70,
      matching((text) => uuid.test(text), 'does not match the UUID format'),
    ),
  ],
  [
    'byte',
    new FormatValue(
      'byte',
      84,
      matching((text) => base64.test(text), 'invalid base64'),
    ),
  ],
  ['date', new FormatValue('date', 71, matching(isDate, 'invalid date'))],
  ['datetime', new FormatValue('datetime', 71, matching(isDateTime, 'invalid datetime'))],
]);

const named: readonly FunctionDeclaration[] = [...formats].map(([name, format]) => ({
  name: `format.${name}`,
  overloads: [overload(`format.${name}`, [], formatType, () => format)],
}));

/** The format library. */
export const formatsLibrary: Library = {
  functions: [
    ...named,
    {
      name: 'format.named',
      overloads: [
        overload('format-named', [stringType], optionalType(formatType), (name) => {
          const format = formats.get(name as string);
          return format ? new Optional(format) : none;
        }),
      ],
      cost: constantCost(1),
    },
    {
      name: 'validate',
      overloads: [
        method('format-validate', [formatType, stringType], optionalType(listType(stringType)), (format, text) => {
          const faults = (format as FormatValue).validate(text as string);
          return faults.length === 0 ? none : new Optional(new ArrayList([...faults]));
        }),
      ],
      cost: {
        actual: ([format, text]) =>
          format instanceof FormatValue ? regexCost(sizeOf(text!), format.patternLength) : 1,
        estimate: ({ args }) => ({
          cost: scale(scale(args[0]!.size, stringFactor), maxPatternLength * regexFactor),
        }),
      },
    },
  ],
};
