/** What a runtime's failures say, in the words that Go programs have for them. */
import { GrpcError } from '@kruise/client/grpc/status';

/** What went wrong, without the code. */
export function descriptionOf(error: unknown): string {
  if (error instanceof GrpcError) return error.message.slice(error.code.length + 2);
  return error instanceof Error ? error.message : String(error);
}

/** What went wrong, with the code unless it says nothing. */
export function rpcTextOf(error: unknown): string {
  if (!(error instanceof GrpcError) || error.code === 'UNKNOWN') return descriptionOf(error);
  return `rpc error: code = ${goCode(error.code)} desc = ${descriptionOf(error)}`;
}

/** `NOT_FOUND` is `NotFound` there. */
function goCode(code: string): string {
  if (code === 'CANCELLED') return 'Canceled';
  return code
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('');
}

/** Whether what was asked about is not there. */
export function isGone(error: unknown): boolean {
  return error instanceof GrpcError && error.code === 'NOT_FOUND';
}
