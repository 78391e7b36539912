/** What a runtime's failures say, in the words that Go programs have for them. */
import { GrpcError, goErrorText } from '@kruise/client/grpc/status';

/** What went wrong, without the code. */
export function descriptionOf(error: unknown): string {
  if (error instanceof GrpcError) return error.description;
  return error instanceof Error ? error.message : String(error);
}

/** What went wrong, with the code unless it says nothing. */
export function rpcTextOf(error: unknown): string {
  return error instanceof GrpcError && error.code !== 'UNKNOWN' ? goErrorText(error) : descriptionOf(error);
}

/** Whether what was asked about is not there. */
export function isGone(error: unknown): boolean {
  return error instanceof GrpcError && error.code === 'NOT_FOUND';
}
