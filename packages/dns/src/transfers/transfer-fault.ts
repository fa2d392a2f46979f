/** Why a server's zone cannot be taken, in words that follow "the list". */
export class TransferFault extends Error {
  override readonly name = "TransferFault";
}
