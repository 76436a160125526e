// The storage library's own encoding of numbers that are not negative, as keys of an environment:
// the bits of the number as a double, shifted by four bits, big-endian, without the zeros at the
// end.

export function numberKey(number: number): Buffer {
  const bytes = Buffer.alloc(9);
  const double = Buffer.alloc(8);
  double.writeDoubleBE(number);
  const bits = double.readBigUInt64BE();
  bytes.writeBigUInt64BE((bits >> 4n) | (1n << 60n));
  bytes[8] = Number(bits & 15n) << 4;
  const length = [4, 6, 8].find((end) => bytes.subarray(end).every((byte) => byte === 0)) ?? 9;
  return bytes.subarray(0, length);
}

export function numberOfKey(key: Buffer): number {
  const bytes = Buffer.alloc(9);
  key.copy(bytes);
  const bits = (bytes.readBigUInt64BE() << 4n) | BigInt(bytes[8]! >> 4);
  const double = Buffer.alloc(8);
  double.writeBigUInt64BE(BigInt.asUintN(64, bits) & ((1n << 63n) - 1n));
  return double.readDoubleBE();
}
