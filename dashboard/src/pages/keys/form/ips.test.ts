import { describe, expect, it } from 'vitest';
import { checkIps, isNetwork } from './ips';

describe('isNetwork', () => {
  it.each([
    '10.0.0.1',
    '0.0.0.0/0',
    '10.0.0.0/08',
    '192.168.0.0/16',
    '255.255.255.255/32',
    '::',
    '::1',
    '::/0',
    '2001:db8::/32',
    '2001:DB8:0:0:8:800:200C:417A',
    'fe80::',
    '::ffff:192.0.2.7',
    '1:2:3:4:5:6:7::',
    '1:2:3:4:5:6:1.2.3.4',
  ])('accepts %s', (entry) => {
    expect(isNetwork(entry)).toBe(true);
  });

  it.each([
    'localhost',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/032',
    '10.0.0.0/8/8',
    '::1/129',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    ':1',
    'fe80::1%eth0',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:1.2.3.4',
  ])('refuses %s', (entry) => {
    expect(isNetwork(entry)).toBe(false);
  });
});

describe('checkIps', () => {
  it('reports the line of each invalid entry', () => {
    expect(checkIps('10.0.0.1\n\n nonsense \n::1, 10.0.0.300\n')).toEqual({
      invalid: [
        { line: 3, entry: 'nonsense' },
        { line: 4, entry: '10.0.0.300' },
      ],
      tooMany: false,
    });
  });

  it('counts repeated entries once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `10.0.0.${at}`).join('\n');
    expect(checkIps(`${many(100)}\n10.0.0.1`).tooMany).toBe(false);
    expect(checkIps(many(101)).tooMany).toBe(true);
  });
});
