<?php
// A refusal of the service, or no answer from it (status 0). Branch on the code; the message may change.

declare(strict_types=1);

namespace Payments;

final class PaymentsError extends \RuntimeException
{
    /** @param array<string, ?string> $error the object `error` of the answer */
    public function __construct(public readonly int $status, private readonly array $error = [])
    {
        $missing = $status === 0 ? 'the service did not answer' : "the service answered $status";
        parent::__construct($error['message'] ?? $missing);
    }

    public function errorCode(): string
    {
        return $this->error['code'] ?? 'api_error';
    }

    public function param(): ?string
    {
        return $this->error['param'] ?? null;
    }

    public function declineCode(): ?string
    {
        return $this->error['decline_code'] ?? null;
    }

    public function requestId(): ?string
    {
        return $this->error['request_id'] ?? null;
    }
}
