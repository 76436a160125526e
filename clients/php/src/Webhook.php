<?php
// Verifies what a webhook endpoint receives.

declare(strict_types=1);

namespace Payments;

/** @phpstan-import-type Event from Types */
final class Webhook
{
    private const AGE_SECONDS_MAX = 300;

    /**
     * The event, or null when the service has not sent it, or more than five minutes ago. `$rawBody` is what
     * arrived, byte for byte; `$header` is `X-Service-Signature`.
     *
     * @return ?Event
     */
    public static function verify(string $rawBody, ?string $header, string $secret, ?int $now = null): ?array
    {
        $time = '';
        $given = [];
        foreach (explode(',', $header ?? '') as $part) {
            [$name, $value] = explode('=', $part, 2) + ['', ''];
            if ($name === 't') {
                $time = $value;
            } elseif ($name === 'v1') {
                $given[] = $value;
            }
        }
        if (!preg_match('/^\d+$/D', $time) || abs(($now ?? time()) - (int) $time) > self::AGE_SECONDS_MAX) {
            return null;
        }
        $expected = hash_hmac('sha256', "$time.$rawBody", $secret);
        foreach ($given as $signature) {
            if (hash_equals($expected, $signature)) {
                return json_decode($rawBody, true);
            }
        }
        return null;
    }
}
