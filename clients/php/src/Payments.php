<?php
// A client of the Payments API: requests that are sent again without paying twice, and lists page by page.
// It needs nothing but PHP.

declare(strict_types=1);

namespace Payments;

final class Payments
{
    private const FIRST_WAIT_MS = 500;
    private const LONGEST_WAIT_MS = 30_000;

    /** @var callable(int): void */
    private $wait;

    /**
     * @param string $url the address of the service, such as `https://payments.example`
     * @param string $key a secret key
     * @param int $attempts how often a request is sent in all, when it may be sent again
     * @param ?callable(int): void $wait for tests: how to wait some milliseconds between two attempts
     */
    public function __construct(
        private readonly string $url,
        private readonly string $key,
        private readonly int $attempts = 5,
        private readonly int $timeoutSeconds = 30,
        ?callable $wait = null,
    ) {
        if (preg_match('/^[!-~]+$/D', $key) !== 1) {
            throw new \InvalidArgumentException('this is no API key: it has a space, a line break or another character that no key has');
        }
        $this->wait = $wait ?? static fn (int $ms) => usleep($ms * 1_000);
    }

    /**
     * Sends a request, again where that helps, and returns the answer: an object as an array, or the text of an export.
     * `$idempotencyKey` is the name of what the customer wants, such as one order: keep it, and send it with each retry.
     *
     * @param string $route such as `POST /v1/payment_intents/{id}/confirm`
     * @param array<string, mixed> $params those in the path, too
     * @return array<string, mixed>|string
     * @throws PaymentsError for a refusal, or when no answer came
     */
    public function send(string $route, array $params = [], ?string $idempotencyKey = null): array|string
    {
        if ($idempotencyKey === null && in_array($route, Types::KEY_REQUIRED, true)) {
            throw new \InvalidArgumentException("$route needs an idempotency key");
        }
        // One key for all attempts of a call, so that no attempt does anything twice.
        $idempotencyKey ??= bin2hex(random_bytes(16));
        // PHP would take what follows a line break for headers and a body.
        if (preg_match('/^[ -~]{1,255}$/D', $idempotencyKey) !== 1) {
            throw new \InvalidArgumentException('an idempotency key has 1 to 255 printable ASCII characters');
        }
        for ($attempt = 1; ; $attempt++) {
            [$status, $answer, $retryAfter] = $this->attempt($route, $params, $idempotencyKey);
            if ($status >= 200 && $status < 300) {
                return $answer;
            }
            // Something between the service and here may answer JSON of its own.
            $said = is_array($answer) ? $answer['error'] ?? [] : [];
            $error = new PaymentsError($status, is_array($said) ? $said : []);
            $waitMs = self::waitBefore($error, $retryAfter, $attempt);
            if ($waitMs === null || $attempt >= $this->attempts) {
                throw $error;
            }
            ($this->wait)($waitMs);
        }
    }

    /**
     * All objects of a list, page by page: from the newest or from `starting_after` on, or those before `ending_before`, where
     * each page has newer ones than the one before it.
     *
     * @param array<string, mixed> $params
     * @return \Generator<int, array<string, mixed>>
     */
    public function all(string $route, array $params = []): \Generator
    {
        $params += ['limit' => 100];
        $isForward = !isset($params['ending_before']);
        do {
            $page = $this->send($route, $params);
            // `yield from` would give the keys of each page again, so that a later one takes the place of an earlier one.
            foreach ($page['data'] as $object) {
                yield $object;
            }
            $edge = $isForward ? end($page['data']) : reset($page['data']);
            $params[$isForward ? 'starting_after' : 'ending_before'] = $edge['id'] ?? null;
        } while ($page['has_more']);
    }

    /** @return array{int, array<string, mixed>|string, ?int} the status (0 for no answer), the answer and Retry-After */
    private function attempt(string $route, array $params, string $idempotencyKey): array
    {
        [$method, $path] = explode(' ', $route, 2);
        $path = preg_replace_callback('/\{(\w+)\}/', static function (array $match) use (&$params, $route): string {
            $value = $params[$match[1]] ?? '';
            if (!is_string($value) || $value === '') {
                throw new \InvalidArgumentException("$route needs {$match[1]}");
            }
            unset($params[$match[1]]);
            return rawurlencode($value);
        }, $path);
        $headers = ["Authorization: Bearer {$this->key}"];
        // PHP would take the chunks of an answer together without a word about a last one that is missing.
        $http = ['method' => $method, 'ignore_errors' => true, 'timeout' => $this->timeoutSeconds, 'follow_location' => 0, 'auto_decode' => false];
        if ($method === 'POST') {
            array_push($headers, 'Content-Type: application/json', "Idempotency-Key: $idempotencyKey");
            $http['content'] = json_encode(self::objectOf($params), JSON_THROW_ON_ERROR);
        } elseif ($params !== []) {
            $path .= '?' . http_build_query($params);
        }
        $context = stream_context_create(['http' => [...$http, 'header' => $headers]]);
        $stream = @fopen(rtrim($this->url, '/') . $path, 'r', false, $context);
        if ($stream === false) {
            return [0, '', null];
        }
        $body = (string) @stream_get_contents($stream);
        return self::answerOf(stream_get_meta_data($stream)['wrapper_data'], $body);
    }

    /** PHP has one kind of array for lists and objects: an empty one would be sent as a list. */
    private static function objectOf(array $params): object
    {
        foreach (['metadata', 'payment_intent_data'] as $name) {
            if (is_array($params[$name] ?? null)) {
                $params[$name] = self::objectOf($params[$name]);
            }
        }
        return (object) $params;
    }

    /**
     * @param list<string> $lines the headers
     * @return array{int, array<string, mixed>|string, ?int}
     */
    private static function answerOf(array $lines, string $body): array
    {
        $status = (int) (explode(' ', $lines[0])[1] ?? 0);
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);
        }
        $isChunked = strtolower($headers['transfer-encoding'] ?? '') === 'chunked';
        $text = $isChunked ? self::joined($body) : $body;
        if ($text === null || strlen($text) < (int) ($headers['content-length'] ?? 0)) {
            return [0, '', null];
        }
        $isJson = str_starts_with($headers['content-type'] ?? '', 'application/json');
        // The service says seconds; something between it and here may say a date.
        $seconds = $headers['retry-after'] ?? '';
        $retryAfter = preg_match('/^\d+$/D', $seconds) === 1 ? (int) $seconds : null;
        return [$status, $isJson ? json_decode($text, true) : $text, $retryAfter];
    }

    /** What the chunks of a body are together; null when it was cut, so that the last one has not come. */
    private static function joined(string $body): ?string
    {
        $text = '';
        for ($at = 0; $at < strlen($body) && ($end = strpos($body, "\r\n", $at)) !== false; $at = $end + 2 + $size + 2) {
            $size = (int) hexdec(substr($body, $at, $end - $at));
            if ($size === 0) {
                return $text;
            }
            $text .= substr($body, $end + 2, $size);
        }
        return null;
    }

    /** How many milliseconds to wait before the request is sent again; null when that would not help. */
    private static function waitBefore(PaymentsError $error, ?int $retryAfter, int $attempt): ?int
    {
        $code = $error->errorCode();
        $isPassing = $code === 'idempotency_in_progress' || str_ends_with($code, '_busy');
        if (!$isPassing && $error->status !== 0 && $error->status !== 429 && $error->status < 500) {
            return null;
        }
        $retryAfterMs = ($retryAfter ?? 0) * 1_000;
        // Minutes or hours are the daily cap of test mode.
        if ($retryAfterMs > self::LONGEST_WAIT_MS) {
            return null;
        }
        $growing = min(self::LONGEST_WAIT_MS, self::FIRST_WAIT_MS * 2 ** ($attempt - 1));
        return max($retryAfterMs, (int) ($growing * (0.75 + mt_rand() / mt_getrandmax() / 2)));
    }
}
